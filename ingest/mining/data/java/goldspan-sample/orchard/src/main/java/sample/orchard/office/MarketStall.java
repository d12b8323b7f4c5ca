package sample.orchard.office;

import sample.orchard.harvest.Basket;
import sample.orchard.harvest.Crate;
import sample.orchard.harvest.Picker;
import sample.orchard.store.CrateLabel;
import sample.orchard.store.PriceList;

/** Sells by the crate from the back of a van. */
public class MarketStall {
    private final PriceList prices;
    private long takings;

    public MarketStall(PriceList prices) {
        this.prices = prices;
    }

    public String show(String variety, double kilos) {
        return CrateLabel.of(variety, kilos) + " fresh today";
    }

    public long sell(String variety, Crate crate) {
        long price = Math.round(crate.weight() * prices.of(variety));
        takings += price;
        return price;
    }

    public Crate refill(Picker helper, int n) {
        Crate crate = new Crate();
        for (int i = 0; i < n; i++) {
            Basket basket = helper.pick(0.5, 20);
            crate.stack(basket);
        }
        return crate;
    }

    public boolean weighs(Basket basket, double stated) {
        return Math.abs(basket.kilos() - stated) < 0.05;
    }

    public long payHelper(Picker helper) {
        long wage = helper.wage(180);
        takings -= wage;
        return wage;
    }
}
