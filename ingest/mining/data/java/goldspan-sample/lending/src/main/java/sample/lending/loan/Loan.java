package sample.lending.loan;

public record Loan(String tool, String member, int dueDay) {
    public int daysLate(int today) { return Math.max(0, today - dueDay); }
}
