package sample.railway.fare;

public enum FareZone {
    TOWN(2), VALLEY(5), MOUNTAIN(9);

    private final int euros;

    FareZone(int euros) { this.euros = euros; }

    public int euros() { return euros; }

    public static FareZone at(int kilometre) {
        return kilometre < 6 ? TOWN : kilometre < 25 ? VALLEY : MOUNTAIN;
    }
}
