import pytest

from ingest.contents.definition_nodes import Definition
from ingest.contents.definitions import ENDINGS, RULES, definitions_of, ending_of
from lake.text import LANGUAGES


def docs(text: str, ending: str) -> list[str | None]:
    return [row.qualified_name for row in definitions_of(text, ending)[0]["docs"]]


def official(text: str, ending: str) -> list[tuple[str, str | None]]:
    definitions = definitions_of(text, ending)[0]["official"]
    assert {row.qualified_name for row in definitions} <= {None}
    return [(row.kind, row.name) for row in definitions]


def test_a_definition_has_its_place_and_names() -> None:
    text = "# é\n@d\nclass A:\n    def b(self):\n        pass\n\n\nx = 1\n"
    by_rules, _ = definitions_of(text, "py")
    assert by_rules["docs"] == [
        Definition(8, 46, "class_definition", "A", "A", 2, 5),
        Definition(21, 46, "function_definition", "b", "A.b", 3, 5),
    ]
    assert text.encode()[21:46] == b"def b(self):\n        pass"
    spans = [(row.byte_start, row.byte_end, row.name) for row in by_rules["official"]]
    assert spans == [(8, 46, "A"), (21, 46, "b")]


def test_python() -> None:
    text = "async def f():\n  def g(): pass\nclass A(B):\n  class C:\n    def d(self): pass\ntype X[T] = list[T]\n"
    assert docs(text, "py") == docs(text, "pyi") == ["f", "f.g", "A", "A.C", "A.C.d", "X"]
    assert [name for _, name in official(text, "py")] == ["f", "g", "A", "C", "d"]


def test_javascript() -> None:
    text = """\
        function f() {}
        function* g() {}
        class A { m() {} h = () => 1; static #p() {} }
        const k = (x) => x, n = function other() {}, K = class { m() {} };
        const o = { a: () => 1, b() {}, "c d": function () {} };
        exports.z = function () {};
        A.prototype.y = async () => { const inner = () => 2; };
        [1].map((x) => x);
    """
    names = ["f", "g", "A", "A.m", "A.h", "A.#p", "k", "n", "K", "K.m", "a", "b", "c d", "z", "y", "y.inner"]
    for ending in ("js", "jsx", "mjs", "cjs"):
        assert docs(text, ending) == names
    arrows = [name for kind, name in official(text, "js") if kind == "arrow_function"]
    # An arrow function is called what stands first in it.
    assert arrows == [None, "x", None, "inner", None, "x"]


def test_typescript() -> None:
    text = """\
        namespace N.M { export const f = <T>(a: T) => a; }
        abstract class A { abstract x(): void; private h = () => 1; get y() { return 1 } constructor() {} }
        enum E { One }
        type T = string;
        interface I { m(): void }
        declare module "x" { class Q {} }
        function over(a: string): void;
        function over(a: unknown) {}
    """
    names = ["N.M.f", "A", "A.h", "A.y", "A.constructor", "E", "T", "I", "x.Q", "over"]
    assert docs(text, "ts") == docs(text, "tsx") == names
    kinds = ["method_definition", "method_definition", "interface_declaration", "class_declaration"]
    assert [kind for kind, _ in official(text, "ts")] == [*kinds, "function_declaration"]


def test_javascript_with_types_is_read_as_such() -> None:
    text = "export type Props = {| +a: string |};\nconst f = (x: ?string): number => 1;\nclass A { b(c: string) {} }\n"
    assert {"f", "A", "A.b"} <= set(docs(text, "js"))


def test_java() -> None:
    text = """\
        package a;
        record R(int x) { R { } }
        @interface Ann {}
        enum E { ONE { void q() {} }; E() {} }
        class A { A() {} A(int x) {} void m() { new B() { void z() {} }; } interface I {} }
    """
    assert docs(text, "java") == ["R", "R.R", "Ann", "E", "E.q", "E.E", "A", "A.A", "A.A", "A.m", "A.m.z", "A.I"]
    assert [name for _, name in official(text, "java")] == ["q", "E", "A", "A", "A", "m", "z", "I"]


def test_go() -> None:
    text = """\
        package a
        type A = B
        type (
            C struct{}
            D[T any] interface{ M() }
        )
        func (c *C) m(x int) {}
        func (D[T]) n() {}
        func (c *(C)) o() {}
        func f() {}
    """
    assert docs(text, "go") == ["A", "C", "D", "C.m", "D.n", "C.o", "f"]
    types = [("type_declaration", "A"), ("type_declaration", "T")]
    methods = [("method_declaration", name) for name in "mno"]
    assert official(text, "go") == [*types, *methods, ("function_declaration", "f")]


def test_rust() -> None:
    text = """\
        impl<'a> Tr<u8> for a::Foo<'a> { fn x(&self) {} }
        impl Tr for &'a mut Bar { fn y() { fn inner() {} } }
        macro_rules! m { () => {} }
        mod q { union U { a: u8 } type X = u8; enum E { A } struct S; }
        mod elsewhere;
        trait T { fn has() {} fn lacks(); }
    """
    names = ["Foo", "Foo.x", "Bar", "Bar.y", "Bar.y.inner", "m", "q.U", "q.X", "q.E", "q.S", "T", "T.has"]
    assert docs(text, "rs") == names
    # An `impl` has no name of its own: the first identifier in it stands for one.
    assert official(text, "rs")[:2] == [("impl_item", "a"), ("function_item", "x")]


def test_c() -> None:
    text = """\
        struct point { int x; };
        struct point p;
        struct point *(*f)(struct point);
        static int *g(struct point *q) { return 0; }
        int (h)(void) { return 0; }
        typedef struct { int a; } foo_t, *pfoo;
        typedef int (*callback)(int);
        enum E { A };
        enum { B };
        union U { int a; };
        #define M(x) (x)
    """
    assert docs(text, "c") == ["point", "g", "h", "foo_t", "callback", "E", "U", "M"]
    structs = [name for kind, name in official(text, "c") if kind == "struct_specifier"]
    assert structs == ["point", "point", "point", "point", "point", "a"]


CPP = """\
namespace a::b {
template <class T> class A {
  int get(int x) { return x; }
  ~A() {}
  operator int() { return 1; }
  bool operator ==(A o) { return true; }
  void *operator new(size_t n) { return 0; }
  class Later;
};
}
template <class T> void n::A<T>::set() {}
int &ref() {}
using X = int;
enum class E { a };
struct A::B {};
template <> struct H<int> {};
namespace { void hidden() {} }
n::A::~A() {}
"""


def test_cpp() -> None:
    members = ["get", "~A", "operator int", "operator==", "operator new"]
    names = [
        "a.b.A", *(f"a.b.A.{name}" for name in members), "n.A.set", "ref", "X", "E", "A.B", "H", "hidden", "n.A.~A",
    ]  # fmt: skip
    for ending in ("cpp", "cc", "hpp", "cxx", "hh"):
        assert docs(CPP, ending) == names
    # A member is called what its arguments are called, for those are plain identifiers.
    assert official(CPP, "cpp")[:2] == [("class_specifier", "A"), ("function_definition", "x")]


def test_a_header_is_read_as_cpp_where_that_makes_more_sense() -> None:
    assert docs(CPP, "h") == docs(CPP, "hpp")
    assert docs("struct point { int x; };\nint f(void) { return 0; }\n", "h") == ["point", "f"]
    assert "class_specifier" not in {kind for kind, _ in official(CPP, "h")}


def test_csharp() -> None:
    text = """\
        namespace N.M {
            record R(int a); struct S {} enum E {} delegate void D(); interface I {}
            class C { public C() {} ~C() {} void M() { void L() {} } }
        }
    """
    names = ["R", "S", "E", "D", "I", "C", "C.C", "C.~C", "C.M", "C.M.L"]
    assert docs(text, "cs") == [f"N.M.{name}" for name in names]
    assert [name for _, name in official(text, "cs")] == ["I", "C", "M"]


def test_php() -> None:
    text = "<?php\nnamespace A\\B { trait T {} enum E {} interface I {} class C { function m() {} }}\nfunction f() {}\n"
    assert docs(text, "php") == ["A.B.T", "A.B.E", "A.B.I", "A.B.C", "A.B.C.m", "f"]
    assert [name for _, name in official(text, "php")] == ["C", "m", "f"]


def test_ruby() -> None:
    text = "module A\n class B::C < D\n  def self.x; end\n  class << self\n   def z?; end\n  end\n end\nend\n"
    assert docs(text, "rb") == ["A", "A.B.C", "A.B.C.x", "A.B.C.z?"]
    assert official(text, "rb") == [("module", "A"), ("class", "B::C"), ("method", "z?")]


def test_swift() -> None:
    text = """\
        struct S { init(a: Int) {} deinit {} func f(_ x: Int) -> Int { 1 } }
        extension A.B { func g() {} }
        enum E { case a }
        protocol P { func x() }
        typealias T = Int
    """
    assert docs(text, "swift") == ["S", "S.init", "S.deinit", "S.f", "A.B", "A.B.g", "E", "P", "T"]
    assert [name for _, name in official(text, "swift")] == ["S", "f", "A.B", "g", "E", "P"]


def test_kotlin() -> None:
    text = """\
        class A<T>(val x: Int) : B {
            constructor(y: Int) : this(y)
            companion object { fun c() = 1 }
            fun String.foo(a: Int): Int = a
        }
        object O { fun z() = 1 }
        interface I
        typealias X = Int
    """
    names = ["A", "A.constructor", "A.Companion", "A.Companion.c", "A.foo", "O", "O.z", "I", "X"]
    assert docs(text, "kt") == names
    # Kotlin's functions are named by a kind of node that the published code does not know.
    assert [name for _, name in official(text, "kt")] == ["A", None, "String", None, "I"]


def test_scala() -> None:
    text = "object O { def f(x: Int) = x }\ntrait T { type X = Int }\nclass C\nenum E { case A }\npackage object p {}\n"
    assert docs(text, "scala") == ["O", "O.f", "T", "T.X", "C", "E", "p"]
    assert [name for _, name in official(text, "scala")] == ["f", "T", "C"]


def test_every_ending_has_rules_and_a_grammar() -> None:
    for ending in LANGUAGES:
        by_rules = {rules: list[object]() for rules in (RULES if ending in ENDINGS else ["docs"])}
        assert definitions_of("", ending) == (by_rules, "")
    assert sorted(set(LANGUAGES) - ENDINGS) == ["cjs", "cxx", "hh", "mjs", "pyi"]


def test_an_ending_that_nobody_knows_has_no_answer() -> None:
    assert definitions_of("def f(): pass", "md") == definitions_of("def f(): pass", "") == ({}, "")


@pytest.mark.parametrize(
    ("path", "ending"), [("a.b/c.PY", "py"), ("a.b/c", ""), ("c.test.ts", "ts"), ("a/.py", "py"), ("", "")]
)
def test_the_ending_is_what_follows_the_last_dot_of_the_name(path: str, ending: str) -> None:
    assert ending_of(path) == ending
