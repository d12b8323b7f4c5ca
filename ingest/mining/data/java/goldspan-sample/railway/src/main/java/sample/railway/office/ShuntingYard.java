package sample.railway.office;

import sample.railway.line.Siding;
import sample.railway.line.Signal;
import sample.railway.stock.Engine;
import sample.railway.stock.Train;
import sample.railway.stock.Wagon;

/** Puts trains together and away again. */
public class ShuntingYard {
    private final Siding[] sidings = {new Siding(90), new Siding(150)};
    private final Signal gate = new Signal();

    public boolean stable(Train train) {
        gate.lower();
        for (Siding siding : sidings) {
            if (siding.park(train.metres())) {
                gate.raise();
                return true;
            }
        }
        return false;
    }

    public boolean testRun(int kilometres) {
        Engine engine = new Engine(900);
        engine.refuel(kilometres * 2.0);
        return engine.reaches(kilometres);
    }

    public int trackNeeded(int nWagons) {
        return 20 + nWagons * Wagon.METRES;
    }

    public Signal spare() {
        return new Signal();
    }

    public int slowest(Engine engine, int heaviest) {
        return engine.topSpeed(heaviest);
    }

    public int seatsLeft(Train train, int passengers) {
        return train.seats() - passengers;
    }

    public Wagon dinerCar() {
        return new Wagon(24);
    }
}
