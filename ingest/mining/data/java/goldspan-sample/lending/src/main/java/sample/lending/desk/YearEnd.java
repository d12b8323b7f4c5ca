package sample.lending.desk;

import sample.lending.loan.LateFee;
import sample.lending.loan.Receipt;
import sample.lending.member.Account;
import sample.lending.member.Member;
import sample.lending.shelf.Tool;

/** Sums up a year for each member. */
public class YearEnd {
    private int letters;

    public String letter(Member member, int year) {
        letters++;
        return member.name() + ", member for " + member.yearsBy(year) + " years";
    }

    public Receipt statement(int[] daysLate) {
        var receipt = new Receipt();
        for (int days : daysLate) {
            receipt.line("late", LateFee.of(days));
        }
        return receipt;
    }

    public boolean reminds(Account account) {
        return account.isInDebt();
    }

    public int depositsOf(Tool[] tools) {
        int sum = 0;
        for (Tool tool : tools) {
            sum += tool.deposit();
        }
        return sum;
    }

    public void forgive(Account account, int days) {
        account.payBack(LateFee.of(days));
    }

    public boolean isFounder(Member member) {
        return letters > 0 && member.since() < 1990;
    }
}
