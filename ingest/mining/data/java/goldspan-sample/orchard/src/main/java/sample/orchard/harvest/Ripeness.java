package sample.orchard.harvest;

public enum Ripeness {
    GREEN, FIRM, RIPE, FALLEN;

    public static Ripeness onDay(int day, int ripeDay) {
        if (day < ripeDay - 14) {
            return GREEN;
        }
        return day < ripeDay ? FIRM : day < ripeDay + 10 ? RIPE : FALLEN;
    }
}
