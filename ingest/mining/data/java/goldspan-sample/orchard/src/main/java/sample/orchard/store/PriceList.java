package sample.orchard.store;

import java.util.Map;
import java.util.TreeMap;

public class PriceList {
    private final Map<String, Integer> cents = new TreeMap<>();

    public PriceList set(String variety, int centsPerKilo) {
        cents.put(variety, centsPerKilo);
        return this;
    }

    public int of(String variety) { return cents.getOrDefault(variety, 0); }
}
