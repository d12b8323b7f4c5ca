package sample.orchard.tree;

public final class Variety {
    private final String name;
    private final int ripeDay;

    public Variety(String name, int ripeDay) {
        this.name = name;
        this.ripeDay = ripeDay;
    }

    public String name() { return name; }

    public int ripeDay() { return ripeDay; }
}
