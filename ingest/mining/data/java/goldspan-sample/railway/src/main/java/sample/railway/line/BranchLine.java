package sample.railway.line;

import java.util.List;

public class BranchLine {
    private final List<Station> stations;

    public BranchLine(List<Station> stations) { this.stations = List.copyOf(stations); }

    public Station terminus() { return stations.get(stations.size() - 1); }

    public boolean serves(Station station) { return stations.contains(station); }
}
