package sample.lending.desk;

import sample.lending.loan.LateFee;
import sample.lending.loan.Loan;
import sample.lending.loan.LoanBook;
import sample.lending.loan.Receipt;
import sample.lending.loan.WaitingList;
import sample.lending.member.Account;
import sample.lending.member.Member;
import sample.lending.shelf.RepairBench;
import sample.lending.shelf.Shelf;
import sample.lending.shelf.Tool;

/** Hands out tools and takes them back. */
public class LendingDesk {
    private static final int DAYS = 7;
    private final LoanBook book = new LoanBook();
    private final Shelf shelf = new Shelf();
    private final RepairBench bench = new RepairBench();

    public boolean lend(String toolName, Member member, int today) {
        Tool tool = new Tool(toolName, 40, true);
        if (!shelf.take(tool)) {
            return false;
        }
        book.write(new Loan(toolName, member.name(), today + DAYS));
        return true;
    }

    public int takeBack(String toolName, int today, boolean broken) {
        int late = book.close(toolName).daysLate(today);
        if (broken) {
            bench.receive();
        }
        return LateFee.of(late);
    }

    public void settle(Account account, int fee) {
        account.charge(fee);
    }

    public String nextInLine(WaitingList list) {
        return list.next();
    }

    public String receipt(String what, int fee) {
        return new Receipt().line(what, fee).print();
    }

    public int quoteFee(int days) {
        return LateFee.of(days + 1);
    }

    public boolean isVeteran(Member member, int year) {
        return member.yearsBy(year) > 10;
    }

    public boolean mustBrief(Tool tool) {
        return tool.needsBriefing();
    }
}
