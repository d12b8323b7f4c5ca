package sample.railway.stock;

public class Wagon {
    public static final int METRES = 14;
    private final int seats;

    public Wagon(int seats) { this.seats = seats; }

    public int seats() { return seats; }
}
