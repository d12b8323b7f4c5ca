package sample.railway.office;

import java.util.List;
import sample.railway.fare.FareZone;
import sample.railway.fare.Ticket;
import sample.railway.fare.TicketPunch;
import sample.railway.line.BranchLine;
import sample.railway.line.Signal;
import sample.railway.line.Station;
import sample.railway.stock.Engine;
import sample.railway.stock.Train;
import sample.railway.stock.Wagon;
import sample.railway.time.ClockTime;
import sample.railway.time.Delay;
import sample.railway.time.Timetable;

/** The guard's journey: makes up the train, checks tickets, writes down delays. */
public class GuardsJourney {
    private final BranchLine line;
    private final Delay delay = new Delay();
    private final TicketPunch punch = new TicketPunch();
    private int fares;

    public GuardsJourney(BranchLine line) {
        this.line = line;
    }

    public Train makeUp(int kilowatts, int nWagons) {
        Engine engine = new Engine(kilowatts);
        engine.refuel(400);
        var train = new Train(engine);
        for (int i = 0; i < nWagons; i++) {
            train.couple(new Wagon(56));
        }
        return train;
    }

    public boolean depart(Signal signal, String first) {
        return signal.mayPass() && !first.isEmpty();
    }

    public void check(List<Ticket> tickets) {
        for (Ticket ticket : tickets) {
            if (punch.punch(ticket)) {
                fares += ticket.price();
            }
        }
    }

    public boolean isOutside(int kilometre, boolean townOnly) {
        return townOnly && FareZone.at(kilometre).euros() > 2;
    }

    public void arrive(int planned, int late) {
        ClockTime due = new ClockTime(planned);
        delay.note(due, due.plus(late));
    }

    public boolean mustTurn(Station here) {
        return line.serves(here) && line.terminus().equals(here);
    }

    public String connection(Timetable table, int minutes) {
        return table.nextAfter(new ClockTime(minutes));
    }

    public Ticket supplement(String holder) {
        return new Ticket(holder, FareZone.MOUNTAIN, false);
    }

    public String excuse(Delay other) {
        return other.owesRefund() ? "Signal failure" : "None needed";
    }

    public boolean fits(Train train, int metres) {
        return train.metres() <= metres && train.seats() > fares / 100;
    }

    public int spareSeats(Wagon wagon, int taken) {
        return wagon.seats() - taken;
    }

    public Signal protectRear() {
        Signal lamp = new Signal();
        lamp.raise();
        return lamp;
    }
}
