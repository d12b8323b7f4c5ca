package sample.orchard.store;

public final class CrateLabel {
    private CrateLabel() {}

    public static String of(String variety, double kilos) {
        return String.format("%s, %.1f kg", variety, kilos);
    }
}
