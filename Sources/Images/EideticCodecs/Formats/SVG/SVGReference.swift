#if SVG
import EideticCore

/// A reference of an SVG element to another one.
struct SVGReference {
    /// The number of times that a reference is drawn.
    enum Repetition {
        /// Once: `mask`, `clip-path`, `filter`, `href`.
        case once
        /// For each element within the one that has it: `fill`, `stroke`, `marker-start`, and what is not recognised.
        case inherited
        /// For each vertex within: `marker-mid`, `marker`.
        case vertices
    }

    /// The bytes by which the identifier is compared.
    let key: [UInt8]
    var repetition = Repetition.once
    /// The number of times that it is drawn, once its element is complete.
    var weight = 1.0

    /// Returns the number of times that the reference is drawn for an element with others in it.
    func weight(elementCount: Double, vertexCount: Double) -> Double {
        switch repetition {
        case .once: 1
        case .inherited: elementCount
        case .vertices: elementCount + vertexCount
        }
    }

    /// Returns what `url(#…)` refers to in declarations.
    ///
    /// - Throws: `unsupportedFormat` for references to embedded documents.
    static func all(in declarations: String, names: SVGNames) throws(EideticError) -> [Self] {
        let text = Array(declarations.utf8), isMarkerPossible = declarations.containsASCII("marker")
        var references: [Self] = []
        for bracket in text.brackets where text[..<bracket].ends(with: "url") {
            var content = text[(bracket + 1)...].drop(while: SVGMarkup.isSpace)
            let quote = content.first.flatMap { $0 == UInt8(ascii: "'") || $0 == UInt8(ascii: "\"") ? $0 : nil }
            if quote != nil { content.removeFirst() }
            // A URL with another bracket is none; to search on for its end would take quadratic time.
            content = content.prefix { byte in
                quote.map { byte != $0 } ?? (byte != UInt8(ascii: ")") && byte != UInt8(ascii: "("))
            }
            if content.first == UInt8(ascii: "#") {
                let property = text[..<(bracket - 3)]
                let repetition = repetition(after: property, isMarkerPossible: isMarkerPossible)
                references.append(Self(key: names.key(of: content.dropFirst()), repetition: repetition))
            } else if SVGEmbeddedImage.isDataURL(content), content.contains(UInt8(ascii: "#")) {
                throw SVGMarkup.unsupported("references to elements of embedded documents")
            }
        }
        return references
    }

    /// Returns how often a reference is drawn behind the name of its property.
    private static func repetition(after text: ArraySlice<UInt8>, isMarkerPossible: Bool) -> Repetition {
        func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
            var text = text
            while let last = text.last, SVGMarkup.isSpace(last) { text.removeLast() }
            return text
        }
        var name = trimmed(text)
        guard name.popLast() == UInt8(ascii: ":") else { return isMarkerPossible ? .vertices : .inherited }
        name = trimmed(name)
        if ["mask", "clip-path", "filter"].contains(where: { name.ends(with: $0) }) { return .once }
        let inherited = ["fill", "stroke", "marker-start", "marker-end"]
        return inherited.contains { name.ends(with: $0) } || !isMarkerPossible ? .inherited : .vertices
    }
}
#endif
