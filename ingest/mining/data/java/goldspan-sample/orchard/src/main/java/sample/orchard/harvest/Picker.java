package sample.orchard.harvest;

public class Picker {
    private final String name;
    private int filled;

    public Picker(String name) { this.name = name; }

    public Basket pick(double kilosPerMinute, int minutes) {
        Basket basket = new Basket();
        for (int minute = 0; minute < minutes && basket.add(kilosPerMinute); minute++) {
            continue;
        }
        filled++;
        return basket;
    }

    public int wage(int perBasket) { return filled * perBasket; }
}
