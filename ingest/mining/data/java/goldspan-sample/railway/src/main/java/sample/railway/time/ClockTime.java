package sample.railway.time;

public record ClockTime(int minutes) {
    public static ClockTime of(int hour, int minute) { return new ClockTime(hour * 60 + minute); }

    public ClockTime plus(int more) { return new ClockTime((minutes + more) % 1440); }

    public String text() { return String.format("%02d:%02d", minutes / 60, minutes % 60); }
}
