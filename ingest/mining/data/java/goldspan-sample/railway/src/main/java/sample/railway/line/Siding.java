package sample.railway.line;

public class Siding {
    private final int metres;
    private int occupied;

    public Siding(int metres) { this.metres = metres; }

    public boolean park(int length) {
        if (occupied + length > metres) {
            return false;
        }
        occupied += length;
        return true;
    }
}
