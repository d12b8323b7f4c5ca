package sample.orchard.tree;

public class Tree {
    private final Variety variety;
    private int years;

    public Tree(Variety variety) { this.variety = variety; }

    public void grow() { years++; }

    public boolean bears() { return years >= 4; }

    public Variety variety() { return variety; }
}
