package sample.railway.line;

public record Station(String name, int kilometre) {
    public int distanceTo(Station other) {
        return Math.abs(kilometre - other.kilometre);
    }
}
