package sample.orchard.store;

public class ColdRoom {
    private final double celsius;
    private double stored;

    public ColdRoom(double celsius) { this.celsius = celsius; }

    public void take(double kilos) { stored += kilos; }

    public int weeksUntilSoft() { return celsius < 2 ? 30 : 12; }

    public double stored() { return stored; }
}
