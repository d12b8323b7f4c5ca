package sample.lending.member;

public class Account {
    private int balance;

    public void charge(int amount) { balance -= amount; }

    public void payBack(int amount) { balance += amount; }

    public boolean isInDebt() { return balance < 0; }
}
