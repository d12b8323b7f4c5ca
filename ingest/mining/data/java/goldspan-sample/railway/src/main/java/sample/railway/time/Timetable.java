package sample.railway.time;

import java.util.TreeMap;

public class Timetable {
    private final TreeMap<Integer, String> departures = new TreeMap<>();

    public void add(ClockTime at, String to) { departures.put(at.minutes(), to); }

    public String nextAfter(ClockTime now) {
        var entry = departures.higherEntry(now.minutes());
        return entry == null ? "tomorrow" : entry.getValue();
    }
}
