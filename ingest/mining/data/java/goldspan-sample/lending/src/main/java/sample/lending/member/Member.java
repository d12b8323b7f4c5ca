package sample.lending.member;

public record Member(String name, int since) {
    public int yearsBy(int year) { return year - since; }
}
