"""Small XML: texts that are XML already, and requests read without their name spaces."""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

from lxml import etree

from .errors import refused


class Xml(str):
    """A text that is XML already."""

    __slots__ = ()


def el(tag: str, *content: object, **attributes: str) -> Xml:
    """Return an element. None is left out; what is no Xml is escaped. `junos_x` becomes the attribute junos:x."""
    parts = [item if isinstance(item, Xml) else escape(str(item)) for item in content if item is not None]
    written = "".join(f" {_attribute(name)}={quoteattr(value)}" for name, value in attributes.items())
    inside = "".join(parts)
    return Xml(f"<{tag}{written}>{inside}</{tag}>" if inside else f"<{tag}{written}/>")


def join(*parts: Xml | None) -> Xml:
    """Return several elements after each other."""
    return Xml("".join(part for part in parts if part is not None))


def _attribute(name: str) -> str:
    return name.replace("junos_", "junos:", 1) if name.startswith("junos_") else name.rstrip("_")


def parse(data: str | bytes) -> etree._Element:
    """Return a request's root without name spaces; a request that is no XML is refused."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True)
    try:
        root = etree.fromstring(data if isinstance(data, bytes) else data.encode(), parser)
    except etree.XMLSyntaxError as error:
        raise refused(f"syntax error, {error.msg}", tag="malformed-message", kind="rpc") from None
    for element in root.iter():
        element.tag = plain(str(element.tag))
        for name in list(element.attrib):
            if name.startswith("{"):
                element.attrib[plain(str(name))] = element.attrib.pop(name)
    return root


def plain(name: str) -> str:
    """Return a name without its name space."""
    return name.rpartition("}")[2]


def text_of(element: etree._Element, path: str) -> str | None:
    """Return the text of an element below, None where it is missing."""
    found = element.find(path)
    return (found.text or "").strip() if found is not None else None
