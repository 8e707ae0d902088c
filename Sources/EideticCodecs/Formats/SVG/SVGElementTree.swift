#if SVG
import EideticCore

/// The elements of an SVG document, with their costs and references.
struct SVGElementTree {
    private struct Node {
        var cost = SVGWorkload.Cost()
        var references: [String] = []
        let identifier: String?
    }

    private let sheet: SVGStyleSheet
    private let scale: Double
    private let limits: DecodeLimits
    private var open: [Node] = [Node(identifier: nil)]
    private var identified: [String: Node] = [:]
    private var known: [String: SVGWorkload.Cost] = [:]
    private var embeddedPixels = 0
    private let documentDepth: Int

    /// The maximum length of a chain of references.
    private static let maximumDepth = 256

    /// The time of a layer, which opacity, masks and blending need, in nanoseconds per pixel.
    private static let layerNanoseconds = 10.0

    /// The maximum depth of documents within documents.
    private static let maximumDocumentDepth = 4

    init(sheet: SVGStyleSheet, scale: Double, limits: DecodeLimits, documentDepth: Int = 0) {
        self.sheet = sheet
        self.scale = scale
        self.limits = limits
        self.documentDepth = documentDepth
    }

    /// Reads all elements.
    mutating func read(_ bytes: UnsafeRawBufferPointer) throws(EideticError) {
        var markup = try SVGMarkup(bytes)
        while let piece = try markup.next() {
            switch piece {
            case .start(let name, let attributes, let isEmpty):
                open.append(try node(named: String(name) ?? "", attributes: attributes))
                if isEmpty { close() }
            case .end: close()
            case .text, .instruction: break
            }
        }
        while open.count > 1 { close() }
    }

    /// Returns the cost of the document.
    mutating func totalCost() throws(EideticError) -> SVGWorkload.Cost { try cost(of: open[0], depth: 0) }

    /// Returns `true` if declarations may refer to other elements or need layers; otherwise, `false`.
    static func mayRefer(_ declarations: some StringProtocol) -> Bool {
        layerWords.contains { declarations.containsASCII($0) }
    }

    private static let layerWords: [StaticString] = [
        "url(", "filter", "opacity", "mask", "clip", "blend", "isolation",
    ]

    private mutating func node(named name: String, attributes: [SVGMarkup.Attribute]) throws(EideticError) -> Node {
        func value(_ name: String) -> String? { attributes.last { $0.name == name }?.value }
        var node = Node(identifier: value("id"))
        let nanoseconds = SVGFilterCost.nanoseconds(of: name, attributes: attributes, scale: scale)
        node.cost = SVGWorkload.Cost(nanoseconds: nanoseconds, elements: 1)
        for attribute in attributes {
            if attribute.name == "href" {
                node.cost = node.cost + (try embeddedCost(of: attribute.value))
                if attribute.value.hasPrefix("#") { node.references.append(String(attribute.value.dropFirst())) }
            } else if attribute.name == "style" || Self.mayRefer(attribute.name)
                || attribute.value.containsASCII("url(")
            {
                let isStyle = attribute.name == "style"
                add(isStyle ? attribute.value : "\(attribute.name):\(attribute.value)", to: &node)
            }
        }
        add(sheet.declarations(forClasses: value("class") ?? ""), to: &node)
        return node
    }

    /// Adds the cost and the references of an element's declarations.
    private func add(_ declarations: String, to node: inout Node) {
        guard Self.mayRefer(declarations) else { return }
        for declaration in declarations.split(separator: ";") where Self.mayRefer(declaration) {
            node.cost.nanoseconds += Self.layerNanoseconds
            let parts = declaration.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { continue }
            let references = Self.references(in: parts[1])
            node.references += references
            if parts[0].containsASCII("filter"), references.isEmpty {
                node.cost.nanoseconds += SVGFilterCost.nanoseconds(ofFunctionsIn: String(parts[1]))
            }
        }
    }

    /// Returns the identifiers in `url(#…)`.
    private static func references(in value: Substring) -> [String] {
        value.split(separator: "(").dropFirst().compactMap { part in
            let name = part.prefix { $0 != ")" }.filter { $0 != "'" && $0 != "\"" && !$0.isWhitespace }
            return name.hasPrefix("#") ? String(name.dropFirst()) : nil
        }
    }

    /// Returns the cost of an embedded image, if `reference` is one; all of them together are within the limit on
    /// pixels.
    private mutating func embeddedCost(of reference: String) throws(EideticError) -> SVGWorkload.Cost {
        guard reference.prefix(64).drop(while: { $0.isWhitespace }).lowercased().hasPrefix("data:") else {
            return SVGWorkload.Cost()
        }
        let (bytes, format) = try SVGEmbeddedImage.content(of: reference)
        guard format != .svg else { return try cost(ofDocument: bytes) }
        embeddedPixels += try SVGEmbeddedImage.pixelCount(of: bytes, limits: limits)
        guard embeddedPixels <= limits.pixels else {
            let actual = "the embedded images have \(embeddedPixels) pixels"
            throw EideticError(.limitExceeded, message: "svg: \(actual); the limit is \(limits.pixels)")
        }
        return SVGWorkload.Cost()
    }

    private mutating func cost(ofDocument bytes: [UInt8]) throws(EideticError) -> SVGWorkload.Cost {
        guard documentDepth < Self.maximumDocumentDepth else {
            throw EideticError(.limitExceeded, message: "svg: more than \(Self.maximumDocumentDepth) nested documents")
        }
        return try bytes.span.withUnsafeBytes { bytes throws(EideticError) in
            let sheet = try SVGStyleSheet(bytes)
            var tree = Self(sheet: sheet, scale: scale, limits: limits, documentDepth: documentDepth + 1)
            tree.embeddedPixels = embeddedPixels
            try tree.read(bytes)
            embeddedPixels = tree.embeddedPixels
            return try tree.totalCost()
        }
    }

    private mutating func close() {
        guard open.count > 1, let node = open.popLast() else { return }
        open[open.count - 1].cost = open[open.count - 1].cost + node.cost
        open[open.count - 1].references += node.references
        if let identifier = node.identifier, identified[identifier] == nil { identified[identifier] = node }
    }

    /// Returns the cost of an element with that of its references; one that refers to itself is not drawn.
    private mutating func cost(of node: Node, depth: Int) throws(EideticError) -> SVGWorkload.Cost {
        guard depth <= Self.maximumDepth else {
            throw EideticError(.limitExceeded, message: "svg: more than \(Self.maximumDepth) nested references")
        }
        var sum = node.cost
        for reference in node.references {
            if known[reference] == nil, let target = identified[reference] {
                known[reference] = SVGWorkload.Cost()
                known[reference] = try cost(of: target, depth: depth + 1)
            }
            sum = sum + (known[reference] ?? SVGWorkload.Cost())
        }
        return sum
    }
}

extension StringProtocol {
    /// Returns `true` if a word occurs in the text; compares bytes, because path data may have millions of them.
    func containsASCII(_ word: StaticString) -> Bool {
        word.withUTF8Buffer { word in
            var rest = utf8[...]
            while let start = rest.firstIndex(of: word[0]) {
                rest = rest[start...]
                if rest.starts(with: word) { return true }
                rest = rest.dropFirst()
            }
            return false
        }
    }
}
#endif
