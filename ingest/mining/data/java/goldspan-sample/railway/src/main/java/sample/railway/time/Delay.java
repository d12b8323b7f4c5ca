package sample.railway.time;

public final class Delay {
    private int worst;

    public void note(ClockTime planned, ClockTime actual) {
        worst = Math.max(worst, actual.minutes() - planned.minutes());
    }

    public boolean owesRefund() { return worst >= 30; }
}
