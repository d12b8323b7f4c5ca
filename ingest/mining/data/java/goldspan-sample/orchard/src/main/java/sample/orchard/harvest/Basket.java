package sample.orchard.harvest;

public class Basket {
    public static final double FULL_KILOS = 12.5;
    private double kilos;

    public boolean add(double more) {
        if (kilos + more > FULL_KILOS) {
            return false;
        }
        kilos += more;
        return true;
    }

    public double kilos() { return kilos; }
}
