package sample.orchard.weather;

public class RainGauge {
    private double millimetres;

    public void read(double fallen) { millimetres += fallen; }

    public boolean isDry(double needed) { return millimetres < needed; }

    public double empty() {
        double held = millimetres;
        millimetres = 0;
        return held;
    }
}
