package sample.orchard.tree;

import java.util.ArrayList;
import java.util.List;

public class TreeRow {
    private final List<Tree> trees = new ArrayList<>();

    public TreeRow plant(Tree tree) {
        trees.add(tree);
        return this;
    }

    public List<Tree> bearing() {
        return trees.stream().filter(Tree::bears).toList();
    }
}
