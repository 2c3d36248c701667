//! One body of code for the host and for CubeCL devices.

use proc_macro::TokenStream;
use proc_macro2::TokenStream as Tokens;
use quote::{ToTokens, quote};
use syn::{
    Attribute, Error, FnArg, Ident, Item, ItemFn, ItemMod, Result, parse_macro_input,
    visit_mut::{self, VisitMut},
};

/// Compiles the items of a module twice: as plain Rust in a module `host`, and for CubeCL in a module
/// `device` (only with the feature `cube` of the crate that uses it).
///
/// Functions are written as for `#[cube]`. In `host`, the attributes `#[comptime]` and `#[unroll]`
/// are removed and functions are inlined if they have `#[inline]` of any kind; in `device`,
/// functions become `#[cube]` and structs `CubeType`. Both modules import what the crate's
/// `physics::prelude` offers under the same names: the trait `Float`, `Vec3`, `select`, `comptime!`
/// and so on. In imports, a module `both` stands for the one of the same side.
///
/// Semantics differ in one point: on a device, a number read from a struct's field or from a mutable
/// variable changes with it. Copy it by an operation (`x + 0`) where that matters.
#[proc_macro_attribute]
pub fn host_device(_: TokenStream, input: TokenStream) -> TokenStream {
    let module = parse_macro_input!(input as ItemMod);
    both(module).unwrap_or_else(Error::into_compile_error).into()
}

/// The two modules.
fn both(module: ItemMod) -> Result<Tokens> {
    let (vis, name) = (module.vis, module.ident);
    let Some((_, items)) = module.content else {
        return Err(Error::new_spanned(name, "`#[host_device]` needs a module with a body"));
    };
    let mut host = Tokens::new();
    let mut device = Tokens::new();
    for item in items {
        device.extend(for_device(on_side(item.clone(), "device"))?);
        host.extend(for_host(on_side(item, "host")));
    }
    Ok(quote! {
        #vis mod host {
            #[allow(unused_imports)]
            use crate::physics::prelude::host::*;
            #host
        }
        #[cfg(feature = "cube")]
        #vis mod device {
            #[allow(unused_imports)]
            use crate::physics::prelude::device::*;
            #device
        }
    })
}

/// An item with its imports from the modules of one side.
fn on_side(mut item: Item, side: &'static str) -> Item {
    if let Item::Use(import) = &mut item {
        Side(side).visit_use_tree_mut(&mut import.tree);
    }
    item
}

/// Replaces `both` in imports.
struct Side(&'static str);

impl VisitMut for Side {
    fn visit_ident_mut(&mut self, ident: &mut Ident) {
        if ident == "both" {
            *ident = Ident::new(self.0, ident.span());
        }
    }
}

/// An item as plain Rust.
fn for_host(mut item: Item) -> Tokens {
    Plain.visit_item_mut(&mut item);
    match item {
        Item::Struct(item) => quote! { #[derive(Clone, Copy, Debug)] #item },
        Item::Fn(item) => quote! { #[allow(clippy::too_many_arguments)] #item },
        other => other.into_token_stream(),
    }
}

/// An item for CubeCL.
fn for_device(item: Item) -> Result<Tokens> {
    Ok(match item {
        Item::Fn(mut item) => {
            item.attrs.retain(|attribute| !is(attribute, "inline") && !is(attribute, "cold"));
            check(&item)?;
            quote! { #[cube] #item }
        }
        Item::Struct(item) => quote! { #[derive(CubeType)] #item },
        other => other.into_token_stream(),
    })
}

/// Methods have no place here: CubeCL would need another attribute for them.
fn check(item: &ItemFn) -> Result<()> {
    match item.sig.inputs.iter().find(|input| matches!(input, FnArg::Receiver(_))) {
        Some(receiver) => Err(Error::new_spanned(receiver, "write a free function")),
        None => Ok(()),
    }
}

fn is(attribute: &Attribute, name: &str) -> bool {
    attribute.path().is_ident(name)
}

/// Removes the attributes that only CubeCL understands.
struct Plain;

impl VisitMut for Plain {
    fn visit_attributes_mut(&mut self, attributes: &mut Vec<Attribute>) {
        attributes.retain(|a| !is(a, "comptime") && !is(a, "unroll"));
        for attribute in attributes {
            visit_mut::visit_attribute_mut(self, attribute);
        }
    }
}
