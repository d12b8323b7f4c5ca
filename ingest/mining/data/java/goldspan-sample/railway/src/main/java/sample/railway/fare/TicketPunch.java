package sample.railway.fare;

public class TicketPunch {
    private int punched;

    public boolean punch(Ticket ticket) {
        punched++;
        return ticket.price() > 0;
    }

    public int count() { return punched; }
}
