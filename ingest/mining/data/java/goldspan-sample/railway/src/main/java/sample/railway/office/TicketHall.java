package sample.railway.office;

import sample.railway.fare.FareZone;
import sample.railway.fare.Ticket;
import sample.railway.line.Station;
import sample.railway.time.ClockTime;
import sample.railway.time.Delay;
import sample.railway.time.Timetable;

/** The counter in the hall: prices, the next train, and complaints. */
public class TicketHall {
    private static final int HALF_FARE_AGE = 14;
    private final Timetable table = new Timetable();
    private int sold;

    public int quote(Station from, Station to) {
        int kilometres = from.distanceTo(to);
        return FareZone.at(kilometres).euros();
    }

    public String sell(String holder, int age, int kilometre) {
        var zone = FareZone.at(kilometre);
        var ticket = new Ticket(holder, zone, age < HALF_FARE_AGE);
        sold++;
        return holder + " pays " + ticket.price();
    }

    public String announce(int hour, int minute) {
        ClockTime now = ClockTime.of(hour, minute);
        return now.text() + ": next train to " + table.nextAfter(now);
    }

    public int refund(Delay delay, int paid) {
        return delay.owesRefund() ? paid / 2 : 0;
    }

    public void publish(String to, int... hours) {
        for (int hour : hours) {
            table.add(ClockTime.of(hour, 15), to);
        }
    }

    public String board(Station station) {
        return station.name() + " (" + sold + " sold)";
    }

    public boolean isHalf(Ticket ticket) {
        return ticket.reduced();
    }
}
