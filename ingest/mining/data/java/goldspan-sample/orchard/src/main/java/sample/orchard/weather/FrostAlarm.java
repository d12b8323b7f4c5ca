package sample.orchard.weather;

public final class FrostAlarm {
    private final double threshold;

    public FrostAlarm(double threshold) { this.threshold = threshold; }

    public boolean rings(double... nightlyLows) {
        for (double low : nightlyLows) {
            if (low <= threshold) {
                return true;
            }
        }
        return false;
    }
}
