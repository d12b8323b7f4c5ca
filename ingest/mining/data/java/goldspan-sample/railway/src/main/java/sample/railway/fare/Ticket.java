package sample.railway.fare;

public record Ticket(String holder, FareZone zone, boolean reduced) {
    public int price() { return reduced ? zone.euros() / 2 : zone.euros(); }
}
