"""Languages that tree-sitter reads: their files, their grammars, what defines in them."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["C_HOLDERS", "HASH", "LANGUAGES", "Language"]

HASH = r"#[^\r\n]*"
_DASHES = r"--(?:\[\[(?:[^\]]|\](?!\]))*\]\]|[^\r\n]*)"
_SLASHES = r"//[^\r\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/|\Z)"


@dataclass(frozen=True, slots=True)
class Language:
    """A language that tree-sitter reads: its files, its grammar, what defines in it.

    ``functions`` and ``holders`` are node types; a holder's inner definitions always count.
    ``unknown``: what its grammar does not know and passes over, as the group of a pattern.
    """

    name: str
    suffixes: tuple[str, ...]
    media_type: str
    module: str
    functions: tuple[str, ...]
    holders: tuple[str, ...] = ()
    grammar: str = "language"
    comment: str = _SLASHES
    unknown: str = ""


_SCRIPT_FUNCTIONS = (
    *("function_declaration", "generator_function_declaration", "method_definition"),
    *("variable_declarator", "assignment_expression", "export_statement"),
)
_TYPED = (
    *("class_declaration", "abstract_class_declaration", "interface_declaration"),
    *("internal_module", "module", "enum_declaration"),
)
_TYPED_FUNCTIONS = (*_SCRIPT_FUNCTIONS, "public_field_definition")
# A macro by which a library shows a class to others, as in `class MY_EXPORT Name : Base {`; the
# grammar takes the macro for the class, and what follows for a function. To look for a word's
# beginning first would take four times as long.
_SHOWING = (
    r"(?:class|struct)\s+([A-Z\d_]{0,40}(?:EXPORT|API|PUBLIC|VISIB)[A-Z\d_]{0,40})"
    r"(?=\s+[A-Za-z_][\w:<>, ]{0,200}[:{])"
)
C_HOLDERS = ("struct_specifier", "union_specifier", "enum_specifier")

LANGUAGES = (
    Language(
        "JavaScript",
        (".js", ".mjs", ".cjs", ".jsx"),
        "text/javascript",
        "tree_sitter_javascript",
        (*_SCRIPT_FUNCTIONS, "field_definition"),
        ("class_declaration",),
    ),
    Language(
        "TypeScript",
        (".ts", ".mts", ".cts"),
        "text/x-typescript",
        "tree_sitter_typescript",
        _TYPED_FUNCTIONS,
        _TYPED,
        "language_typescript",
    ),
    Language(
        "TSX",
        (".tsx",),
        "text/x-typescript",
        "tree_sitter_typescript",
        _TYPED_FUNCTIONS,
        _TYPED,
        "language_tsx",
    ),
    Language(
        "Go",
        (".go",),
        "text/x-go",
        "tree_sitter_go",
        ("function_declaration", "method_declaration", "var_spec"),
        ("type_spec",),
    ),
    Language(
        "Rust",
        (".rs",),
        "text/x-rust",
        "tree_sitter_rust",
        ("function_item",),
        ("impl_item", "trait_item", "mod_item", "struct_item", "enum_item", "union_item"),
    ),
    Language(
        "Java",
        (".java",),
        "text/x-java",
        "tree_sitter_java",
        ("method_declaration", "constructor_declaration", "compact_constructor_declaration"),
        (
            *("class_declaration", "interface_declaration", "enum_declaration"),
            *("record_declaration", "annotation_type_declaration"),
        ),
    ),
    Language("C", (".c",), "text/x-c", "tree_sitter_c", ("function_definition",), C_HOLDERS),
    Language(
        "C++",
        (".cpp", ".cc", ".cxx", ".hpp", ".hh", ".hxx", ".h"),
        "text/x-c++",
        "tree_sitter_cpp",
        ("function_definition",),
        (*C_HOLDERS, "class_specifier", "namespace_definition"),
        unknown=_SHOWING,
    ),
    Language(
        "C#",
        (".cs",),
        "text/x-csharp",
        "tree_sitter_c_sharp",
        ("method_declaration", "constructor_declaration", "local_function_statement"),
        (
            *("namespace_declaration", "class_declaration", "interface_declaration"),
            *("struct_declaration", "enum_declaration", "record_declaration"),
        ),
    ),
    Language(
        "Ruby",
        (".rb", ".rake"),
        "text/x-ruby",
        "tree_sitter_ruby",
        ("method", "singleton_method"),
        ("class", "module"),
        comment=HASH,
    ),
    Language(
        "PHP",
        (".php",),
        "text/x-php",
        "tree_sitter_php",
        ("function_definition", "method_declaration"),
        (
            *("class_declaration", "interface_declaration", "trait_declaration"),
            *("enum_declaration", "namespace_definition"),
        ),
        "language_php",
        rf"#(?!\[)[^\r\n]*|{_SLASHES}",
    ),
    Language(
        "Kotlin",
        (".kt", ".kts"),
        "text/x-kotlin",
        "tree_sitter_kotlin",
        ("function_declaration",),
        ("class_declaration", "object_declaration"),
    ),
    Language(
        "Scala",
        (".scala",),
        "text/x-scala",
        "tree_sitter_scala",
        ("function_definition",),
        ("class_definition", "object_definition", "trait_definition", "enum_definition"),
    ),
    Language(
        "Swift",
        (".swift",),
        "text/x-swift",
        "tree_sitter_swift",
        ("function_declaration", "init_declaration"),
        ("class_declaration", "protocol_declaration"),
    ),
    Language(
        "Lua",
        (".lua",),
        "text/x-lua",
        "tree_sitter_lua",
        ("function_declaration", "assignment_statement"),
        comment=_DASHES,
    ),
    Language(
        "Bash",
        (".sh", ".bash"),
        "text/x-shellscript",
        "tree_sitter_bash",
        ("function_definition",),
        comment=HASH,
    ),
)
