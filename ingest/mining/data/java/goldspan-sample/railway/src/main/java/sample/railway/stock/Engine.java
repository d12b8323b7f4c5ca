package sample.railway.stock;

public class Engine {
    private final int kilowatts;
    private double fuel;

    public Engine(int kilowatts) { this.kilowatts = kilowatts; }

    public void refuel(double litres) { fuel += litres; }

    public int topSpeed(int nWagons) { return Math.max(40, kilowatts / 10 - 4 * nWagons); }

    public boolean reaches(int kilometres) { return fuel > kilometres * 1.8; }
}
