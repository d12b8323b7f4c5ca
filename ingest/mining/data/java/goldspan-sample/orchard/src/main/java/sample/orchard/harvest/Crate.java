package sample.orchard.harvest;

import java.util.ArrayDeque;
import java.util.Deque;

public class Crate {
    private final Deque<Basket> baskets = new ArrayDeque<>();

    public void stack(Basket basket) { baskets.push(basket); }

    public double weight() {
        return baskets.stream().mapToDouble(Basket::kilos).sum();
    }
}
