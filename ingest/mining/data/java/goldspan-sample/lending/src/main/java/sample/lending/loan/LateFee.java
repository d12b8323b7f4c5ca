package sample.lending.loan;

public final class LateFee {
    private LateFee() {}

    public static int of(int days) { return days <= 2 ? 0 : 50 * (days - 2); }
}
