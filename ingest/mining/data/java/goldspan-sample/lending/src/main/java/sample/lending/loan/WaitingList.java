package sample.lending.loan;

import java.util.ArrayDeque;
import java.util.Queue;

public class WaitingList {
    private final Queue<String> names = new ArrayDeque<>();

    public void join(String name) { names.add(name); }

    public String next() { return names.poll(); }
}
