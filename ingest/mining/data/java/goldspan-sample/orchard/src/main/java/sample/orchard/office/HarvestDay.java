package sample.orchard.office;

import java.util.List;
import sample.orchard.harvest.Basket;
import sample.orchard.harvest.Crate;
import sample.orchard.harvest.Picker;
import sample.orchard.harvest.Ripeness;
import sample.orchard.store.ColdRoom;
import sample.orchard.store.CrateLabel;
import sample.orchard.store.PriceList;
import sample.orchard.tree.Tree;
import sample.orchard.tree.TreeRow;
import sample.orchard.tree.Variety;
import sample.orchard.weather.RainGauge;

/** One day of picking, from the gauge at dawn to the cold room at night. */
public class HarvestDay {
    private final int day;
    private final TreeRow row;
    private final ColdRoom room = new ColdRoom(1.5);

    public HarvestDay(int day, TreeRow row) {
        this.day = day;
        this.row = row;
    }

    public boolean canStart(RainGauge gauge) {
        return gauge.isDry(5.0);
    }

    public double work(List<Picker> pickers) {
        double total = 0;
        for (Tree tree : row.bearing()) {
            Variety variety = tree.variety();
            if (Ripeness.onDay(day, variety.ripeDay()).ordinal() < 2) {
                continue;
            }
            Crate crate = new Crate();
            for (Picker picker : pickers) {
                Basket basket = picker.pick(0.4, 30);
                crate.stack(basket);
            }
            System.out.println(CrateLabel.of(variety.name(), crate.weight()));
            total += crate.weight();
        }
        room.take(total);
        return total;
    }

    public long worth(PriceList prices, String name) {
        return Math.round(room.stored() * prices.of(name));
    }

    public boolean isLate(Variety variety) {
        return Ripeness.onDay(day, variety.ripeDay()).compareTo(Ripeness.RIPE) > 0;
    }

    public int fullBaskets(Crate crate) {
        return (int) (crate.weight() / Basket.FULL_KILOS);
    }

    public String lastLabel(Crate crate, String name) {
        double rest = crate.weight();
        return CrateLabel.of(name, rest);
    }

    public ColdRoom overflow(double celsius) {
        return new ColdRoom(celsius);
    }

    public static RainGauge freshGauge() {
        return new RainGauge();
    }
}
