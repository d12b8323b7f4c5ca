package sample.lending.loan;

public class Receipt {
    private final StringBuilder lines = new StringBuilder();

    public Receipt line(String what, int cents) {
        lines.append(what).append(' ').append(cents).append('\n');
        return this;
    }

    public String print() { return lines.toString(); }
}
