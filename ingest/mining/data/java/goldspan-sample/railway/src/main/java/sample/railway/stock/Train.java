package sample.railway.stock;

import java.util.ArrayList;
import java.util.List;

public class Train {
    private final Engine engine;
    private final List<Wagon> wagons = new ArrayList<>();

    public Train(Engine engine) { this.engine = engine; }

    public Train couple(Wagon wagon) {
        wagons.add(wagon);
        return this;
    }

    public int seats() { return wagons.stream().mapToInt(Wagon::seats).sum(); }

    public int metres() { return 20 + wagons.size() * Wagon.METRES; }
}
