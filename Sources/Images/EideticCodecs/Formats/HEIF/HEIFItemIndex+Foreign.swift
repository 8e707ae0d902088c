#if AVIF || HEIF
extension HEIFItemIndex {
    /// The changes without which libheif 1.15 refuses the file.
    var editsForHEIF: [FileCopy.Edit] { baseEdits + foreignReferenceNames.map { .init($0, newName: "skip") } }

    /// The names of the lists of references that libheif 1.15 refuses, within the file: of metadata or auxiliary images
    /// that belong to an item which it does not know, such as the image that a gain map makes (`tmap`), or to several.
    ///
    /// The shown image needs none of them: the metadata are read without the library.
    ///
    /// - SeeAlso: ISO/IEC 23008-12, 6.6.2.4 (`tmap`) and 6.8.5.
    private var foreignReferenceNames: [UnsafeRawBufferPointer] {
        var names: [UnsafeRawBufferPointer] = []
        forEachReference { name, item, targets, _ in
            guard !name.contains("dimg"), !name.contains("prem") else { return }
            if targets.count != 1 || !targets.allSatisfy(isKnownImage) { names.append(name) }
        }
        return names
    }
}
#endif
