package sample.lending.shelf;

public class RepairBench {
    private int waiting;

    public void receive() { waiting++; }

    public int daysUntilFree() { return waiting * 3; }
}
