#if SVG
import EideticCore

/// The rules of an SVG document's style sheets that apply filters, masks or other elements.
struct SVGStyleSheet {
    /// The declarations of rules for classes.
    private var ofClass: [[UInt8]: SVGDeclarations] = [:]
    /// The declarations of all other rules, which may apply to any element.
    private var ofAny = SVGDeclarations()
    private let names: SVGNames
    /// The number of references in all rules, with those of each selector.
    private var referenceCount = 0

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
                guard !open.isEmpty, open[open.count - 1] != nil else { continue }
                open[open.count - 1]?.append(isLiteral ? String(content) ?? "" : try markup.resolved(content))
            case .instruction(let content): try Self.check(instruction: content)
            }
        }
        for text in open { if let text { try read(text) } }
    }

    private static func check(instruction: Substring.UTF8View) throws(EideticError) {
        // URLs lose their line ends.
        let text = String(decoding: instruction.filter { !SVGMarkup.isSpace($0) }, as: UTF8.self)
        // References to characters are resolved there.
        guard text.utf8.starts(with: "xml-stylesheet".utf8), text.containsASCII("data:") || text.containsASCII("&")
        else {
            return
        }
        throw EideticError(.unsupportedFormat, message: "svg: embedded style sheets are not supported")
    }

    /// Returns the declarations that may apply to an element with these lists of classes.
    func declarations(forClasses lists: [String]) -> [SVGDeclarations] {
        guard !ofClass.isEmpty else { return [ofAny] }
        // A character that is not known may be a space.
        let isKnown = names.isUnicode || lists.allSatisfy { $0.utf8.allSatisfy { $0 < 0x80 } }
        guard isKnown else { return [ofAny] + ofClass.values }
        let classes = lists.flatMap { $0.unicodeScalars.split { $0.properties.isWhitespace } }
        return [ofAny] + Set(classes.map { names.key(of: Substring($0).utf8) }).compactMap { ofClass[$0] }
    }

    private mutating func read(_ text: String) throws(EideticError) {
        guard !text.containsASCII("@import"), !text.containsASCII("\\") else {
            throw EideticError(.unsupportedFormat, message: "svg: style sheets with @import or \\ are not supported")
        }
        var rules = SVGRuleReader(text)
        while let (prelude, block) = rules.next() {
            guard SVGDeclarations.matter(block), !isFont(prelude) else { continue }
            let declarations = try SVGDeclarations(block, names: names)
            for selector in prelude.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
                referenceCount += declarations.references.count
                guard referenceCount <= SVGElementTree.maximumReferenceCount else {
                    throw EideticError(.limitExceeded, message: "svg: \(referenceCount) references in style sheets")
                }
                if let name = className(in: selector) {
                    ofClass[name, default: SVGDeclarations()].add(declarations)
                } else {
                    ofAny.add(declarations.ofEachElement)
                }
            }
        }
    }

    /// Returns `true` for the description of a font, which applies to no element.
    private func isFont(_ prelude: [UInt8]) -> Bool {
        prelude.filter { !SVGMarkup.isSpace($0) }.map(\.lowercasedASCII).elementsEqual("@font-face".utf8)
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
