#if SVG
import EideticCore

/// The elements of an SVG document, with their costs and references.
struct SVGElementTree {
    private struct Node {
        var cost = SVGWorkload.Cost()
        var references: [[UInt8]] = []
        let identifiers: [[UInt8]]
    }

    private let sheet: SVGStyleSheet
    private let scale: Double
    private let limits: DecodeLimits
    private var open: [Node] = [Node(identifiers: [])]
    /// The elements by their identifiers; those of equal ones are one with all their cost, as any may be meant.
    private var identified: [[UInt8]: Node] = [:]
    private var known: [[UInt8]: SVGWorkload.Cost] = [:]
    private var names = SVGNames()
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
        names = markup.names
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

    private mutating func node(named name: String, attributes: [SVGMarkup.Attribute]) throws(EideticError) -> Node {
        func values(_ name: String) -> [String] { attributes.filter { $0.name == name }.map(\.value) }
        // Attributes of other namespaces have the same name here.
        var node = Node(identifiers: values("id").map { names.key(of: $0.utf8) })
        let nanoseconds = SVGFilterCost.nanoseconds(of: name, attributes: attributes, scale: scale)
        node.cost = SVGWorkload.Cost(nanoseconds: nanoseconds, elements: 1)
        for attribute in attributes {
            if attribute.name == "href" {
                try addReference(attribute.value, ofElement: name, to: &node)
            } else if let declarations = try SVGDeclarations(attribute) {
                add(declarations, to: &node)
            }
        }
        add(sheet.declarations(forClasses: values("class")), to: &node)
        return node
    }

    private mutating func addReference(
        _ reference: String,
        ofElement name: String,
        to node: inout Node
    ) throws(EideticError) {
        if reference.utf8.first == UInt8(ascii: "#") {
            node.references.append(names.key(of: reference.utf8.dropFirst()))
        }
        guard let url = SVGEmbeddedImage.dataURL(reference) else { return }
        // XInclude would make the elements of one document those of another one.
        guard name != "include" else { throw SVGMarkup.unsupported("included documents") }
        node.cost = node.cost + (try embeddedCost(of: url))
    }

    /// Adds the cost and the references of an element's declarations.
    private func add(_ declarations: SVGDeclarations, to node: inout Node) {
        node.cost.nanoseconds += Self.layerNanoseconds * Double(declarations.layerCount)
        node.cost.nanoseconds += SVGFilterCost.nanosecondsOfFunction * Double(declarations.functionCount)
        node.references += declarations.references.map { names.key(of: $0) }
    }

    /// Returns the cost of an embedded image; all of them together are within the limit on pixels.
    private mutating func embeddedCost(of url: SVGEmbeddedImage.DataURL) throws(EideticError) -> SVGWorkload.Cost {
        let (bytes, format) = try SVGEmbeddedImage.content(of: url)
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
        for identifier in node.identifiers {
            var sum = identified[identifier] ?? Node(identifiers: [])
            sum.cost = sum.cost + node.cost
            sum.references += node.references
            identified[identifier] = sum
        }
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
#endif
