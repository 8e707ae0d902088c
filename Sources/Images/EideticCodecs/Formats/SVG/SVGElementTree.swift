#if SVG
import EideticCore

/// The elements of an SVG document, with their costs and references.
struct SVGElementTree {
    private struct Node {
        var cost = SVGWorkload.Cost()
        /// The references of the element itself, until it is complete.
        var ownReferences: [SVGReference] = []
        /// The references of all complete elements in it.
        var references: [SVGReference] = []
        /// A number that the vertices of paths do not exceed.
        var vertexCount = 0.0
        var identifiers: [[UInt8]] = []
    }

    private let sheet: SVGStyleSheet
    private let scale: Double
    private let limits: DecodeLimits
    private var open: [Node] = [Node()]
    /// The elements by their identifiers; where any of several may be meant, they are one with all their cost.
    private var identified: [[UInt8]: Node] = [:]
    /// The identifiers that the first element with them has.
    private var claimed: Set<[UInt8]> = []
    private var known: [[UInt8]: SVGWorkload.Cost] = [:]
    /// The identifiers whose costs are being added up.
    private var active: Set<[UInt8]> = []
    private var referenceCount = 0
    private var names = SVGNames()
    private var embeddedPixels = 0
    private let documentDepth: Int

    /// The maximum length of a chain of references.
    private static let maximumDepth = 256

    /// The maximum number of references that are read, copied, or followed.
    static let maximumReferenceCount = 5_000_000

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
                if isEmpty { try close() }
            case .end: try close()
            case .text, .instruction: break
            }
        }
        while open.count > 1 { try close() }
    }

    /// Returns the cost of the document.
    mutating func totalCost() throws(EideticError) -> SVGWorkload.Cost { try cost(of: open[0], depth: 0).cost }

    private mutating func node(named name: String, attributes: [SVGMarkup.Attribute]) throws(EideticError) -> Node {
        func values(_ name: String) -> [String] { attributes.filter { $0.name == name }.map(\.value) }
        var node = Node(identifiers: identifiers(in: attributes))
        let nanoseconds = SVGFilterCost.nanoseconds(of: name, attributes: attributes, scale: scale)
        node.cost = SVGWorkload.Cost(nanoseconds: nanoseconds, elements: 1)
        // A vertex takes two bytes at least.
        node.vertexCount = (values("d") + values("points")).reduce(0) { $0 + Double($1.utf8.count / 2) }
        for attribute in attributes {
            if attribute.name == "href" {
                try addReference(attribute.value, ofElement: name, to: &node)
            } else if let declarations = try SVGDeclarations(attribute, names: names) {
                add(declarations, to: &node)
            }
        }
        for declarations in sheet.declarations(forClasses: values("class")) { add(declarations, to: &node) }
        return node
    }

    /// Returns the identifiers by which an element may be meant; of equal ones the library takes the first.
    private mutating func identifiers(in attributes: [SVGMarkup.Attribute]) -> [[UInt8]] {
        attributes.filter { $0.name == "id" }.compactMap { attribute in
            let key = names.key(of: attribute.value.utf8)
            let isExact = names.isUnicode && !attribute.isPrefixed && key.elementsEqual(attribute.value.utf8)
            return !isExact || claimed.insert(key).inserted ? key : nil
        }
    }

    private mutating func addReference(
        _ reference: String,
        ofElement name: String,
        to node: inout Node
    ) throws(EideticError) {
        if reference.utf8.first == UInt8(ascii: "#") {
            node.ownReferences.append(SVGReference(key: names.key(of: reference.utf8.dropFirst())))
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
        node.ownReferences += declarations.references
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

    private mutating func close() throws(EideticError) {
        guard open.count > 1, var node = open.popLast() else { return }
        for var reference in node.ownReferences {
            reference.weight = reference.weight(elementCount: node.cost.elements, vertexCount: node.vertexCount)
            node.references.append(reference)
        }
        try count(node.references.count * (1 + node.identifiers.count))
        let parent = open.count - 1
        open[parent].cost = open[parent].cost + node.cost
        open[parent].vertexCount += node.vertexCount
        open[parent].references += node.references
        for identifier in node.identifiers {
            identified[identifier, default: Node()].cost = (identified[identifier]?.cost ?? .init()) + node.cost
            identified[identifier, default: Node()].references += node.references
        }
    }

    /// Bounds the time and the memory of references.
    private mutating func count(_ references: Int) throws(EideticError) {
        referenceCount += references
        guard referenceCount <= Self.maximumReferenceCount else {
            let limit = "the limit is \(Self.maximumReferenceCount)"
            throw EideticError(.limitExceeded, message: "svg: \(referenceCount) references; \(limit)")
        }
    }

    /// Returns the cost of an element with that of its references, and whether one was left out because it leads back:
    /// the library does not draw that one, but those before it again if it begins elsewhere.
    private mutating func cost(
        of node: Node,
        depth: Int
    ) throws(EideticError) -> (cost: SVGWorkload.Cost, isCut: Bool) {
        guard depth <= Self.maximumDepth else {
            throw EideticError(.limitExceeded, message: "svg: more than \(Self.maximumDepth) nested references")
        }
        try count(node.references.count)
        var sum = node.cost, isCut = false
        for reference in node.references {
            guard let cost = known[reference.key] else {
                guard let target = identified[reference.key] else { continue }
                guard active.insert(reference.key).inserted else { isCut = true; continue }
                let result = try cost(of: target, depth: depth + 1)
                active.remove(reference.key)
                if result.isCut { isCut = true } else { known[reference.key] = result.cost }
                sum = sum + result.cost * reference.weight
                continue
            }
            sum = sum + cost * reference.weight
        }
        return (sum, isCut)
    }
}
#endif
