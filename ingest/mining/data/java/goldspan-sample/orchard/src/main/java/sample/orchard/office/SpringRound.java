package sample.orchard.office;

import sample.orchard.store.PriceList;
import sample.orchard.tree.Pruning;
import sample.orchard.tree.Tree;
import sample.orchard.tree.TreeRow;
import sample.orchard.tree.Variety;
import sample.orchard.weather.FrostAlarm;

/** What is done in spring: planting, pruning and watching for frost. */
public class SpringRound {
    private static final double DANGER = -1.5;
    private int planted;

    public TreeRow plantRow(String name, int ripeDay, int n) {
        Variety variety = new Variety(name, ripeDay);
        TreeRow row = new TreeRow();
        for (int i = 0; i < n; i++) {
            row.plant(new Tree(variety));
            planted++;
        }
        return row;
    }

    public int prune(int branches, boolean young) {
        return Pruning.branchesToCut(branches, young);
    }

    public boolean lightFires(double[] lows) {
        FrostAlarm alarm = new FrostAlarm(DANGER);
        return alarm.rings(lows);
    }

    public PriceList openingPrices(String... names) {
        PriceList prices = new PriceList();
        for (String name : names) {
            prices.set(name, 250);
        }
        return prices;
    }

    public void growAll(TreeRow row) {
        for (Tree tree : row.bearing()) {
            tree.grow();
        }
    }

    public String replant(Variety lost) {
        planted++;
        return lost.name() + " again";
    }
}
