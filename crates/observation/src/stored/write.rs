//! A serializer that writes every `f64` as the hexadecimal digits of its bits, and leaves other values as
//! they are.

use serde::ser::{
    Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

/// Writes through another serializer, or another part of one, with exact numbers.
#[derive(Clone, Copy, Debug)]
pub struct Exact<T>(pub T);

impl<T: Serialize + ?Sized> Serialize for Exact<&T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(Exact(serializer))
    }
}

/// Writes the 16 digits of some bits.
fn hexadecimal(bits: u64, digits: &mut [u8; 16]) -> &str {
    for (place, digit) in digits.iter_mut().enumerate() {
        *digit = b"0123456789abcdef"[(bits >> (60 - 4 * place)) as usize & 15];
    }
    std::str::from_utf8(digits).unwrap_or_default()
}

macro_rules! hands_on {
    ($($method:ident($($argument:ident: $type:ty),*);)*) => {$(
        fn $method(self, $($argument: $type),*) -> Result<S::Ok, S::Error> {
            self.0.$method($($argument),*)
        }
    )*};
}

macro_rules! opens {
    ($($method:ident($($argument:ident: $type:ty),*) -> $part:ident;)*) => {$(
        fn $method(self, $($argument: $type),*) -> Result<Exact<S::$part>, S::Error> {
            self.0.$method($($argument),*).map(Exact)
        }
    )*};
}

impl<S: Serializer> Serializer for Exact<S> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = Exact<S::SerializeSeq>;
    type SerializeTuple = Exact<S::SerializeTuple>;
    type SerializeTupleStruct = Exact<S::SerializeTupleStruct>;
    type SerializeTupleVariant = Exact<S::SerializeTupleVariant>;
    type SerializeMap = Exact<S::SerializeMap>;
    type SerializeStruct = Exact<S::SerializeStruct>;
    type SerializeStructVariant = Exact<S::SerializeStructVariant>;

    fn serialize_f64(self, value: f64) -> Result<S::Ok, S::Error> {
        if self.0.is_human_readable() {
            let mut digits = [0; 16];
            self.0.serialize_str(hexadecimal(value.to_bits(), &mut digits))
        } else {
            self.0.serialize_f64(value)
        }
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.0.serialize_some(&Exact(value))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        self.0.serialize_newtype_struct(name, &Exact(value))
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        self.0.serialize_newtype_variant(name, index, variant, &Exact(value))
    }

    fn collect_str<T: std::fmt::Display + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.0.collect_str(value)
    }

    fn is_human_readable(&self) -> bool {
        self.0.is_human_readable()
    }

    hands_on! {
        serialize_bool(value: bool);
        serialize_i8(value: i8);
        serialize_i16(value: i16);
        serialize_i32(value: i32);
        serialize_i64(value: i64);
        serialize_i128(value: i128);
        serialize_u8(value: u8);
        serialize_u16(value: u16);
        serialize_u32(value: u32);
        serialize_u64(value: u64);
        serialize_u128(value: u128);
        serialize_f32(value: f32);
        serialize_char(value: char);
        serialize_str(value: &str);
        serialize_bytes(value: &[u8]);
        serialize_none();
        serialize_unit();
        serialize_unit_struct(name: &'static str);
        serialize_unit_variant(name: &'static str, index: u32, variant: &'static str);
    }

    opens! {
        serialize_seq(length: Option<usize>) -> SerializeSeq;
        serialize_tuple(length: usize) -> SerializeTuple;
        serialize_tuple_struct(name: &'static str, length: usize) -> SerializeTupleStruct;
        serialize_tuple_variant(name: &'static str, index: u32, variant: &'static str, length: usize)
            -> SerializeTupleVariant;
        serialize_map(length: Option<usize>) -> SerializeMap;
        serialize_struct(name: &'static str, length: usize) -> SerializeStruct;
        serialize_struct_variant(name: &'static str, index: u32, variant: &'static str, length: usize)
            -> SerializeStructVariant;
    }
}

/// Lists of values without names.
macro_rules! lists {
    ($($part:ident::$method:ident;)*) => {$(
        impl<S: $part> $part for Exact<S> {
            type Ok = S::Ok;
            type Error = S::Error;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), S::Error> {
                self.0.$method(&Exact(value))
            }

            fn end(self) -> Result<S::Ok, S::Error> {
                self.0.end()
            }
        }
    )*};
}

lists! {
    SerializeSeq::serialize_element;
    SerializeTuple::serialize_element;
    SerializeTupleStruct::serialize_field;
    SerializeTupleVariant::serialize_field;
}

/// Lists of named fields.
macro_rules! structs {
    ($($part:ident;)*) => {$(
        impl<S: $part> $part for Exact<S> {
            type Ok = S::Ok;
            type Error = S::Error;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<(), S::Error> {
                self.0.serialize_field(name, &Exact(value))
            }

            fn skip_field(&mut self, name: &'static str) -> Result<(), S::Error> {
                self.0.skip_field(name)
            }

            fn end(self) -> Result<S::Ok, S::Error> {
                self.0.end()
            }
        }
    )*};
}

structs! {
    SerializeStruct;
    SerializeStructVariant;
}

impl<S: SerializeMap> SerializeMap for Exact<S> {
    type Ok = S::Ok;
    type Error = S::Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), S::Error> {
        self.0.serialize_key(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), S::Error> {
        self.0.serialize_value(&Exact(value))
    }

    fn end(self) -> Result<S::Ok, S::Error> {
        self.0.end()
    }
}
