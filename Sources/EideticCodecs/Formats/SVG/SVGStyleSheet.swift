#if SVG
import EideticCore

/// The rules of an SVG document's style sheets that apply filters, masks or other elements.
struct SVGStyleSheet {
    /// The declarations of rules for classes.
    private var ofClass: [String: String] = [:]
    /// The declarations of all other rules, which may apply to any element.
    private var ofAny = ""

    /// Reads the `style` elements of a document.
    ///
    /// - Throws: `unsupportedFormat` for imported style sheets.
    init(_ bytes: UnsafeRawBufferPointer) throws(EideticError) {
        var markup = try SVGMarkup(bytes)
        var isStyle = false, text = ""
        while let piece = try markup.next() {
            switch piece {
            case .start(let name, _, let isEmpty): isStyle = name.elementsEqual("style".utf8) && !isEmpty
            case .end: isStyle = false
            case .text(let content): if isStyle { text += String(content) ?? "" }
            case .instruction(let content): try Self.check(instruction: content)
            }
        }
        try read(text)
    }

    private static func check(instruction: Substring.UTF8View) throws(EideticError) {
        let text = String(instruction) ?? ""
        guard text.hasPrefix("xml-stylesheet"), text.lowercased().containsASCII("data:") else { return }
        throw EideticError(.unsupportedFormat, message: "svg: embedded style sheets are not supported")
    }

    /// Returns the declarations that may apply to an element with these classes.
    func declarations(forClasses classes: String) -> String {
        guard !ofClass.isEmpty else { return ofAny }
        return classes.split(separator: " ").reduce(ofAny) { $0 + (ofClass[String($1)] ?? "") }
    }

    private mutating func read(_ text: String) throws(EideticError) {
        guard !text.containsASCII("@import"), !text.containsASCII("\\") else {
            throw EideticError(.unsupportedFormat, message: "svg: style sheets with @import or \\ are not supported")
        }
        for rule in text.split(separator: "}") {
            let parts = rule.split(separator: "{", maxSplits: 1)
            guard parts.count == 2, SVGElementTree.mayRefer(parts[1]) else { continue }
            for selector in parts[0].split(separator: ",") {
                let name = selector.drop { $0.isWhitespace }.prefix { !$0.isWhitespace }
                let isClass =
                    name.hasPrefix(".")
                    && name.dropFirst().allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" }
                if isClass, selector.filter({ !$0.isWhitespace }).count == name.count {
                    ofClass[String(name.dropFirst()), default: ""] += parts[1] + ";"
                } else {
                    ofAny += parts[1] + ";"
                }
            }
        }
    }
}
#endif
