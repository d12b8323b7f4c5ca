package sample.lending.shelf;

public record Tool(String name, int deposit, boolean powered) {
    public boolean needsBriefing() { return powered && deposit > 50; }
}
