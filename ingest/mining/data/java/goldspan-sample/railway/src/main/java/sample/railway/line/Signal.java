package sample.railway.line;

public class Signal {
    private boolean clear;

    public void lower() { clear = true; }

    public void raise() { clear = false; }

    public boolean mayPass() { return clear; }
}
