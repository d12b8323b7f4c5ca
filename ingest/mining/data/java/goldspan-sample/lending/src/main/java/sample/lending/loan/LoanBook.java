package sample.lending.loan;

import java.util.HashMap;
import java.util.Map;

public class LoanBook {
    private final Map<String, Loan> open = new HashMap<>();

    public void write(Loan loan) { open.put(loan.tool(), loan); }

    public Loan close(String tool) { return open.remove(tool); }
}
