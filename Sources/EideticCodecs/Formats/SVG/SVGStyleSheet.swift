#if SVG
import EideticCore

/// The rules of an SVG document's style sheets that apply filters, masks or other elements.
struct SVGStyleSheet {
    /// The declarations of rules for classes.
    private var ofClass: [[UInt8]: String] = [:]
    /// The declarations of all other rules, which may apply to any element.
    private var ofAny = ""
    private let names: SVGNames

    /// Reads the `style` elements of a document.
    ///
    /// - Throws: `unsupportedFormat` for imported style sheets.
    init(_ bytes: UnsafeRawBufferPointer) throws(EideticError) {
        var markup = try SVGMarkup(bytes)
        names = markup.names
        // The texts of the open elements that are style sheets.
        var open: [String?] = []
        while let piece = try markup.next() {
            switch piece {
            case .start(_, _, isEmpty: true): break
            case .start(let name, _, _): open.append(name.elementsEqual("style".utf8) ? "" : nil)
            case .end: if let text = open.popLast() ?? nil { try read(text) }
            case .text(let content, let isLiteral):
                guard let text = open.last ?? nil else { continue }
                open[open.count - 1] = text + (isLiteral ? String(content) ?? "" : try markup.resolved(content))
            case .instruction(let content): try Self.check(instruction: content)
            }
        }
        for text in open { if let text { try read(text) } }
    }

    private static func check(instruction: Substring.UTF8View) throws(EideticError) {
        // URLs lose their line ends.
        let text = String(decoding: instruction.filter { !SVGMarkup.isSpace($0) }, as: UTF8.self)
        guard text.utf8.starts(with: "xml-stylesheet".utf8), text.containsASCII("data:") else { return }
        throw EideticError(.unsupportedFormat, message: "svg: embedded style sheets are not supported")
    }

    /// Returns the declarations that may apply to an element with these lists of classes.
    func declarations(forClasses lists: [String]) -> SVGDeclarations {
        var text = ofAny
        if !ofClass.isEmpty {
            for name in lists.flatMap({ $0.unicodeScalars.split { $0.properties.isWhitespace } }) {
                text += ofClass[names.key(of: Substring(name).utf8)] ?? ""
            }
        }
        return SVGDeclarations(text)
    }

    private mutating func read(_ text: String) throws(EideticError) {
        guard !text.containsASCII("@import"), !text.containsASCII("\\") else {
            throw EideticError(.unsupportedFormat, message: "svg: style sheets with @import or \\ are not supported")
        }
        var rules = SVGRuleReader(text)
        while let (prelude, block) = rules.next() {
            guard SVGDeclarations.matter(block) else { continue }
            for selector in prelude.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
                if let name = className(in: selector) {
                    ofClass[name, default: ""] += block + ";"
                } else {
                    ofAny += block + ";"
                }
            }
        }
    }

    /// Returns the class of a selector that is nothing else.
    private func className(in selector: ArraySlice<UInt8>) -> [UInt8]? {
        var name = selector.drop(while: SVGMarkup.isSpace)
        while let last = name.last, SVGMarkup.isSpace(last) { name.removeLast() }
        guard name.popFirst() == UInt8(ascii: "."), !name.isEmpty, name.allSatisfy(SVGRuleReader.isName) else {
            return nil
        }
        return names.key(of: name)
    }
}
#endif
