package sample.orchard.tree;

public final class Pruning {
    private Pruning() {}

    public static int branchesToCut(int branches, boolean young) {
        return young ? branches / 4 : branches / 3;
    }
}
