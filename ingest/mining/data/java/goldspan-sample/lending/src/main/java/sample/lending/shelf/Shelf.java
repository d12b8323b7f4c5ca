package sample.lending.shelf;

import java.util.ArrayList;
import java.util.List;

public class Shelf {
    private final List<Tool> tools = new ArrayList<>();

    public void put(Tool tool) { tools.add(tool); }

    public boolean take(Tool tool) { return tools.remove(tool); }
}
